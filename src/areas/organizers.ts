// Event organizers: the profile of a merchant as an organizer of events.

import { fail } from "../kernel/errors.ts";
import { count, email, flag, nullables, text } from "../schema/shapes.ts";
import { endpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { suspension } from "./merchants.ts";
import { sampleOrganizer } from "./samples/sales.ts";

export const eventOrganizers = resource({
  kind: "event_organizer",
  prefix: "org",
  view: "event_organizers",
  sample: sampleOrganizer,
  fields: {
    ...nullables({
      name: text("Public name of the organizer"),
      description: text("Description of the organizer"),
      email: email("The organizer's email address"),
      phone: text("The organizer's phone number"),
      website: text("The organizer's website"),
      ...suspension,
    }),
    verified: flag("Whether the service has verified the organizer"),
    upcomingEvents: count("Number of upcoming events"),
    pastEvents: count("Number of past events"),
  },
  defaults: { verified: false, upcomingEvents: 0, pastEvents: 0 },
  states: {
    active: { to: ["suspended"], event: "event_organizer.reactivated", sets: () => ({ suspensionReason: null }) },
    suspended: {
      to: ["active"],
      event: "event_organizer.suspended",
      at: "suspendedAt",
      fills: { suspensionReason: "under_review" },
    },
  },
  created: "event_organizer.created",
  updated: "event_organizer.updated",
});

const getOrganizer = endpoint({
  id: "organizer.get",
  position: 12,
  area: "Event organizers",
  method: "GET",
  path: "/events/organizer",
  summary: "Retrieve your organizer profile",
  description: "A merchant has at most one organizer profile. Returns 404 if there is none.",
  reply: eventOrganizers.schema,
  errors: ["resource_not_found"],
  handle: ({ own }) =>
    own(eventOrganizers).newest() ??
    fail(
      "resource_not_found",
      `This merchant has no organizer profile. Make one with POST /_sandbox/records/${eventOrganizers.kind}.`,
      {
        resource: eventOrganizers.kind,
      },
    ),
});

export const operations = [getOrganizer];

export const resources = [eventOrganizers];
