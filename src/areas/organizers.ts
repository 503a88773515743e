// Event organizers: the profile under which a merchant holds events.

import { resource } from "../contracts/resource.ts";
import { fail } from "../kernel/errors.ts";
import { count, email, flag, nullables, text } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";

export const eventOrganizers = resource({
  kind: "event_organizer",
  prefix: "org",
  view: "event_organizers",
  fields: {
    ...nullables({
      name: text("The name on the bill"),
      description: text("Who the organizer is"),
      email: email("Where the organizer is written to"),
      phone: text("The organizer's telephone number"),
      website: text("The organizer's own site"),
    }),
    verified: flag("Whether the service has checked who this is"),
    upcomingEvents: count("Events still to come"),
    pastEvents: count("Events that were held"),
  },
  defaults: { status: "active", verified: false, upcomingEvents: 0, pastEvents: 0 },
  moves: { active: ["suspended"], suspended: ["active"] },
});

export const getOrganizer = endpoint({
  id: "organizer.get",
  area: "Event organizers",
  method: "GET",
  path: "/events/organizer",
  summary: "Read your organizer profile",
  description: "A merchant has one such profile or none; without one the answer is 404.",
  reply: eventOrganizers.schema,
  errors: ["resource_not_found"],
  handle: ({ own }) =>
    own(eventOrganizers).newest() ??
    fail("resource_not_found", `This merchant has no organizer profile. Make one with POST /_sandbox/records/${eventOrganizers.kind}.`, {
      resource: eventOrganizers.kind,
    }),
});
