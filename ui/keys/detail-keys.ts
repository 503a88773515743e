// The keys of details: follow a link, go to a body, search; and the key that jumps between a request and its delivery.

import { topDetail } from "../overlays/detail.ts";
import {
  clearSearch,
  goToMatch,
  hasBody,
  hasLinks,
  isSearched,
  linkToFollow,
  scrollToBody,
  selectLink,
  startSearch,
} from "../overlays/detail-moves.ts";
import { type KeyBinding, update } from "../state/state.ts";
import { canJump, jump, openReference } from "./references.ts";

/** Before a detail's own keys: `n` is the next match while there is a search. */
export const detailKeys: readonly KeyBinding[] = [
  {
    keys: ["enter"],
    label: "open link",
    help: "open the selected link",
    isEnabled: (state) => linkToFollow(state) !== undefined,
    run(state) {
      const link = linkToFollow(state);
      return link ? openReference(state, link.to) : update(state);
    },
  },
  {
    keys: ["n"],
    label: "next match",
    help: "next match of the search",
    isEnabled: isSearched,
    run: (state) => update(goToMatch(state, 1)),
  },
  { keys: ["N"], help: "previous match of the search", isEnabled: isSearched, run: (state) => update(goToMatch(state, -1)) },
  { keys: ["escape"], label: "clear search", help: "clear the search", isEnabled: isSearched, run: (state) => update(clearSearch(state)) },
  {
    keys: ["B"],
    label: "body",
    help: "go to the body, then to the next one",
    isEnabled: hasBody,
    run: (state) => update(scrollToBody(state)),
  },
  {
    keys: ["/"],
    label: "search",
    help: "search the details",
    isEnabled: (state) => topDetail(state) !== undefined,
    run: (state) => update(startSearch(state)),
  },
  { keys: ["tab"], help: "next link", isEnabled: hasLinks, run: (state) => update(selectLink(state, 1)) },
  { keys: ["shift-tab"], help: "previous link", isEnabled: hasLinks, run: (state) => update(selectLink(state, -1)) },
];

/** In panes and in details. */
export const jumpKey: KeyBinding = {
  keys: ["J"],
  label: "jump",
  help: "jump from a request to its delivery, and from a delivery, a verdict or a fault to its request",
  isEnabled: canJump,
  run: jump,
};
