// The prefix of a numbered series, made of the initials of a name.

/** The initials of the first two words with a capital, such as QR of Quinta da Ribeira. */
export const initialsOf = (name: string | null, fallback: string) =>
  (name ?? "")
    .normalize("NFD")
    .match(/(?<!\p{L}\p{M}*)[A-Z]/gu)
    ?.slice(0, 2)
    .join("") || fallback;
