/** The names in the memory that stand for those of a framework. */

/** The name of an agent of a framework: a child of that of the client (`openai/weather`); `name` itself if it has none. */
export function childOf(name: string, child = ""): string {
  const label = child.replace(/[^\p{L}\p{N}_.-]+/gu, "-").replace(/^[-_.]+|[-_.]+$/g, "");
  return label ? `${name}/${label}` : name;
}
