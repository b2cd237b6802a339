/** "models/tcp/versions/3" as people write it: "tcp@3". */
export function nameOf(version: string): string {
  const [, model, , number] = version.split("/");
  return `${model}@${number}`;
}
