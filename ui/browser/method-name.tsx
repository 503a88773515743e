// The method of an operation, as wide as any other.

export const MethodName = ({ name }: { name: string }) => (
  <code class={`method ${name.toLowerCase()}`}>{name === "DELETE" ? "DEL" : name}</code>
);
