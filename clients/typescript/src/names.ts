/** The names in the memory that stand for those of a framework. */

/** The name of an agent of a framework: a child of that of the client (`openai/weather`); `name` itself if it has none. */
export function childOf(name: string, child = ""): string {
  const label = child.replace(/[^\p{L}\p{N}_.-]+/gu, "-").replace(/^[-_.]+|[-_.]+$/g, "");
  return label ? `${name}/${label}` : name;
}

/** A letter as the percent codes of its bytes in UTF-8; half of a pair has codes, too. */
export function percentCodes(letter: string): string {
  const code = letter.codePointAt(0)!;
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  const bytes = isHalf ? [0xe0 | code >> 12, 0x80 | code >> 6 & 0x3f, 0x80 | code & 0x3f] : Buffer.from(letter);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

/** The text that percent codes stand for. Fails with `URIError` if they are not those of a text. */
export function withoutPercentCodes(text: string): string {
  const halves = text.replace(/%ED%([AB][0-9A-F])%([89AB][0-9A-F])/g, (_, high: string, low: string) =>
    String.fromCharCode(0xd000 | (parseInt(high, 16) & 0x3f) << 6 | parseInt(low, 16) & 0x3f));
  return decodeURIComponent(halves);
}
