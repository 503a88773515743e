// A row of buttons that is one stop of the Tab key: the arrow keys, Home and End move between its buttons.

import type { HTMLAttributes } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface ToolbarProps extends Pick<HTMLAttributes<HTMLDivElement>, "class" | "children" | "onMouseDown"> {
  label: string;
  /** Whether the keys that move the focus also press the button that they move to. */
  isPressedByKeys?: boolean;
}

export function Toolbar({ label, isPressedByKeys, children, ...attributes }: ToolbarProps) {
  const bar = useRef<HTMLDivElement>(null);
  const last = useRef<Element | null>(null);
  /**
   * Tab reaches only one button: the focused one, or else the current one, or else the last focused one, or else the
   * first.
   */
  const markStop = () => {
    const buttons = buttonsOf(bar.current);
    const find = (test: (one: HTMLButtonElement) => boolean) => buttons.find(test);
    const stop =
      find((one) => one === document.activeElement) ??
      find((one) => one.ariaCurrent !== null) ??
      find((one) => one === last.current) ??
      buttons[0];
    for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
  };
  // Runs after each render, because the buttons may have changed.
  useLayoutEffect(markStop);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = buttonsOf(bar.current).filter((one) => one.checkVisibility());
    const to = placeAfter(event.key, buttons.indexOf(event.target as HTMLButtonElement), buttons.length);
    if (to === undefined) return;
    buttons.at(to)?.focus();
    if (isPressedByKeys) buttons.at(to)?.click();
    // The dashboard handles these keys too, unless the event is prevented.
    event.preventDefault();
  };
  const onFocusIn = ({ target }: FocusEvent) => {
    last.current = target as Element;
    markStop();
  };
  return (
    <div ref={bar} role="toolbar" aria-label={label} {...{ ...attributes, onKeyDown, onFocusIn }}>
      {children}
    </div>
  );
}

const buttonsOf = (bar: Element | null) => [...(bar?.querySelectorAll("button") ?? [])];

function placeAfter(key: string, place: number, count: number): number | undefined {
  if (key === "ArrowRight") return (place + 1) % count;
  if (key === "ArrowLeft") return place - 1;
  if (key === "Home") return 0;
  return key === "End" ? -1 : undefined;
}
