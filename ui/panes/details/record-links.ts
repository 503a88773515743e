// Links to records from the details of requests and events. A record is known by its merchant and its id, because
// merchants from the same fixture have records with the same ids.

import type { Reference } from "../../state/state.ts";
import { type DetailLine, type DetailWriter, linkTo } from "./detail-lines.ts";

export const RECORDS_PANE = "records";

/** `mer_lodge/pay_1`, or the id alone where the merchant is not known. */
export const recordReference = (id: string, merchant?: string | null): Reference => ({
  pane: RECORDS_PANE,
  id: merchant == null ? id : `${merchant}/${id}`,
});

/** The parts of a reference to a record. */
export function partsOfReference(reference: string): { id: string; merchant?: string } {
  const [, merchant, id] = /^([^/]+)\/(.+)$/.exec(reference) ?? [];
  return merchant === undefined || id === undefined ? { id: reference } : { id, merchant };
}

const RECORD_ID = /^(?!(?:req|evt|whd|we|flt|vdt|mer)_)[a-z]{2,}_[\w-]+$/;

export const isRecordId = (text: unknown): text is string => typeof text === "string" && RECORD_ID.test(text);

/** A field that links to each of these records. */
export const recordLinks = (
  { field }: DetailWriter,
  label: string,
  ids: readonly unknown[],
  merchant: string | null,
): DetailLine[] =>
  [...new Set(ids.filter(isRecordId))].flatMap((id) => {
    const { pane, id: reference } = recordReference(id, merchant);
    return linkTo(pane, reference, field(label, id));
  });
