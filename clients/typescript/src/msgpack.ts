/** What LangGraph's serializer for Python packs, in the JSON of its serializer for JavaScript. */

/** The extensions by which the serializer packs what MessagePack does not have. */
const EXTENSIONS = { numpyArray: 6, deltaSnapshot: 7 };
const MESSAGES = "langchain_core.messages.";

/**
 * A packed value as JSON. Messages, sets, bytes and LangGraph's own types are what they are in JavaScript; an object of another
 * class of Python is what the serializer keeps of it: its fields, its text or its arguments. A whole number beyond 2^53 is
 * rounded. Fails for an array of NumPy, and for what is no MessagePack.
 */
export function jsonOfMsgpack(data: Buffer): Buffer {
  return Buffer.from(JSON.stringify(new Reader(data).value()));
}

/** Reads one value after the other, each as JSON has it. */
class Reader {
  readonly #data: Buffer;
  #position = 0;

  constructor(data: Buffer) {
    this.#data = data;
  }

  /** The next value. */
  value(): unknown {
    const code = this.#number(1);
    if (code < 0x80) return code;
    if (code < 0x90) return this.#record(code & 0x0f);
    if (code < 0xa0) return this.#list(code & 0x0f);
    if (code < 0xc0) return this.#text(code & 0x1f);
    if (code >= 0xe0) return code - 0x100;
    switch (code) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: case 0xc5: case 0xc6:
        return constructed("Uint8Array", [...this.#bytes(this.#number(1 << code - 0xc4))]);
      case 0xc7: case 0xc8: case 0xc9: return this.#extension(this.#number(1 << code - 0xc7));
      case 0xca: return this.#bytes(4).readFloatBE();
      case 0xcb: return this.#bytes(8).readDoubleBE();
      case 0xcc: case 0xcd: case 0xce: return this.#number(1 << code - 0xcc);
      case 0xcf: return Number(this.#bytes(8).readBigUInt64BE());
      case 0xd0: case 0xd1: case 0xd2: {
        const size = 1 << code - 0xd0;
        return this.#bytes(size).readIntBE(0, size);
      }
      case 0xd3: return Number(this.#bytes(8).readBigInt64BE());
      case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8: return this.#extension(1 << code - 0xd4);
      case 0xd9: case 0xda: case 0xdb: return this.#text(this.#number(1 << code - 0xd9));
      case 0xdc: case 0xdd: return this.#list(this.#number(2 << code - 0xdc));
      case 0xde: case 0xdf: return this.#record(this.#number(2 << code - 0xde));
    }
    throw new Error(`The thread has a document that is no MessagePack: 0x${code.toString(16)} begins no value.`);
  }

  #bytes(size: number): Buffer {
    const start = this.#position;
    this.#position += size;
    return this.#data.subarray(start, this.#position);
  }

  #number(size: number): number {
    return this.#bytes(size).readUIntBE(0, size);
  }

  #text(size: number): string {
    return this.#bytes(size).toString();
  }

  #list(count: number): unknown[] {
    return Array.from({ length: count }, () => this.value());
  }

  #record(count: number): Record<string, unknown> {
    return Object.fromEntries(Array.from({ length: count }, () => [String(this.value()), this.value()]));
  }

  #extension(size: number): unknown {
    const extension = this.#number(1);
    const packed = new Reader(this.#bytes(size)).value();
    if (extension === EXTENSIONS.deltaSnapshot) return { lc: 2, type: "delta_snapshot", value: packed };
    if (extension === EXTENSIONS.numpyArray) {
      throw new Error("The thread has an array of NumPy, which JavaScript has no form for: keep lists instead.");
    }
    return formOf(...packed as [string, string, unknown]);
  }
}

/** An object of a class of Python, of which the serializer keeps this. */
function formOf(module: string, name: string, kept: unknown): unknown {
  if (module.startsWith(MESSAGES)) {
    // What is `None` there is not given here.
    const kwargs = Object.fromEntries(Object.entries(kept as object).filter(([, field]) => field !== null));
    return { lc: 1, type: "constructor", id: ["langchain_core", "messages", name], kwargs };
  }
  if (name === "set" || name === "frozenset") return constructed("Set", kept);
  if (name === "UUID") return (kept as string).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  if (name === "Send") {
    const [node, args] = kept as unknown[];
    return { node, args };
  }
  return kept;
}

function constructed(name: string, argument: unknown): unknown {
  return { lc: 2, type: "constructor", id: [name], args: [argument] };
}
