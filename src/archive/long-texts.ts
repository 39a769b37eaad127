import { HoldfastError } from "../errors/index.ts";

/** UTF-16 units of texts that stand in one line; longer ones go ahead of it in pieces, so that every line is short. */
export const LINE_UNITS_MAX: number = 128 * 1024;

/** Units of the pieces of one line: a text has at most 256 MiB, and Node makes no longer strings. */
const PIECES_UNITS_MAX = 512 * 1024 * 1024;

/** In the place of a text that went ahead in so many pieces. */
export interface PiecesReference {
  readonly $pieces: number;
}

/** Takes the texts of one line: what the line has no room for goes ahead in pieces. */
export class LongTexts {
  readonly #writePiece: (piece: string) => void;
  #room = LINE_UNITS_MAX;

  constructor(writePiece: (piece: string) => void) {
    this.#writePiece = writePiece;
  }

  /** The text itself where it fits. */
  put(text: string): string | PiecesReference {
    if (text.length <= this.#room) {
      this.#room -= text.length;
      return text;
    }
    let pieces = 0;
    for (let start = 0; start < text.length; pieces += 1) {
      const end = endOfPiece(text, start);
      this.#writePiece(text.slice(start, end));
      start = end;
    }
    return { $pieces: pieces };
  }
}

function endOfPiece(text: string, start: number): number {
  const end = Math.min(text.length, start + LINE_UNITS_MAX);
  const last = text.charCodeAt(end - 1);
  // Half of a pair is no Unicode text.
  return end < text.length && last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

/** Pieces that wait for the line that they belong to. */
export class PieceStore {
  #pieces: string[] = [];
  #units = 0;

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  add(piece: string): void {
    this.#units += piece.length;
    if (this.#units > PIECES_UNITS_MAX)
      throw new HoldfastError(
        "LIMIT_EXCEEDED",
        `the texts of one record have more than ${PIECES_UNITS_MAX} characters`,
      );
    this.#pieces.push(piece);
  }

  take(count: number): string {
    if (count > this.#pieces.length)
      throw new HoldfastError("INVALID_ARGUMENT", "it names more pieces of text than stand before it");
    const text = this.#pieces.splice(0, count).join("");
    this.#units -= text.length;
    return text;
  }
}
