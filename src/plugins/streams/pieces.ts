// The answers and the output of calls that are being streamed in this window: as pieces, and as the text so far for later
// subscriptions.
import { type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { type PartialAnswer } from '../../core/ports/ports.ts';
import { maskKey } from '../../core/conversation/key.ts';

/** `content`: output of a running call. */
type PieceField = 'message' | 'reasoning' | 'content';

export interface Piece {
  readonly conversation: string;
  /** The id of the answer or of the call. */
  readonly response: string;
  /** Numbers the parts of the answer, in the order of their first pieces. */
  readonly index: number;
  readonly field: PieceField;
  /** The UTF-16 length of the part before it. */
  readonly offset: number;
  readonly text: string;
}

interface Part {
  readonly field: PieceField;
  readonly index: number;
  readonly mask: StreamMask;
  text: string;
}

interface OpenAnswer {
  readonly response: string;
  readonly parts: Part[];
}

/** How much of a call's output later subscriptions get. */
const KEPT_OUTPUT = 20_000;

interface Output {
  readonly mask: StreamMask;
  /** The end of the output. */
  text: string;
  /** The UTF-16 length of all of it. */
  length: number;
}

export interface PiecesDeps {
  keyOf(conversation: string): string;
  report(error: unknown): void;
}

export class Pieces implements Disposable {
  readonly #deps: PiecesDeps;
  readonly #open = new Map<string, OpenAnswer>();
  /** By conversation and call: the calls of the last answer. */
  readonly #outputs = new Map<string, Map<string, Output>>();
  readonly #onPiece: Emitter<Piece>;

  constructor(deps: PiecesDeps) {
    this.#deps = deps;
    this.#onPiece = new Emitter((error) => deps.report(error));
  }

  get onPiece(): Emitter<Piece>['event'] {
    return this.#onPiece.event;
  }

  /** Ignores an answer whose start was not rendered here; its complete event follows. */
  render(conversation: string, partial: PartialAnswer): void {
    switch (partial.type) {
      case 'answer_started':
        this.#open.set(conversation, { response: partial.id, parts: [] });
        this.#outputs.delete(conversation);
        return;
      case 'answer_text':
        return this.#add(conversation, partial.id, partial.field === 'text' ? 'message' : 'reasoning', partial.text);
      case 'answer_ended':
        return this.#end(conversation, partial.id);
      case 'call_text':
      case 'retrying':
      case 'retrying_ended':
      case 'tool_started':
        return;
      case 'tool_output':
        return this.#output(conversation, partial.call, partial.text);
    }
  }

  /** The text of an unfinished answer so far, as one piece for each part, and the end of the output of each call. */
  soFar(conversation: string): readonly Piece[] {
    const answer = this.#open.get(conversation);
    const outputs = [...(this.#outputs.get(conversation) ?? [])];
    return [
      ...(answer?.parts ?? []).flatMap((part) =>
        part.text === '' ? [] : [pieceOf(conversation, answer?.response ?? '', part, 0, part.text)],
      ),
      ...outputs.map(([call, { text, length }]) => outputPiece(conversation, call, length - text.length, text)),
    ];
  }

  dispose(): void {
    this.#onPiece.dispose();
    this.#open.clear();
    this.#outputs.clear();
  }

  #output(conversation: string, call: string, given: string): void {
    const outputs = this.#outputs.get(conversation) ?? new Map<string, Output>();
    this.#outputs.set(conversation, outputs);
    const output = outputs.get(call) ?? { mask: new StreamMask(this.#deps.keyOf(conversation)), text: '', length: 0 };
    outputs.set(call, output);
    const text = output.mask.add(given);
    if (text === '') return;
    this.#onPiece.fire(outputPiece(conversation, call, output.length, text));
    output.length += text.length;
    output.text = (output.text + text).slice(-KEPT_OUTPUT);
  }

  #add(conversation: string, response: string, field: PieceField, text: string): void {
    const answer = this.#open.get(conversation);
    if (answer?.response !== response) return;
    const part = answer.parts.find((one) => one.field === field) ?? this.#begin(conversation, answer, field);
    this.#show(conversation, answer, part, part.mask.add(text));
  }

  #begin(conversation: string, { parts }: OpenAnswer, field: PieceField): Part {
    const mask = new StreamMask(this.#deps.keyOf(conversation));
    const part: Part = { field, index: parts.length, mask, text: '' };
    parts.push(part);
    return part;
  }

  #end(conversation: string, response: string): void {
    const answer = this.#open.get(conversation);
    if (answer?.response !== response) return;
    for (const part of answer.parts) this.#show(conversation, answer, part, part.mask.end());
    this.#open.delete(conversation);
  }

  #show(conversation: string, { response }: OpenAnswer, part: Part, text: string): void {
    if (text === '') return;
    const offset = part.text.length;
    part.text += text;
    this.#onPiece.fire(pieceOf(conversation, response, part, offset, text));
  }
}

function outputPiece(conversation: string, call: string, offset: number, text: string): Piece {
  return { conversation, response: call, index: 0, field: 'content', offset, text };
}

function pieceOf(conversation: string, response: string, part: Part, offset: number, text: string): Piece {
  return { conversation, response, index: part.index, field: part.field, offset, text };
}

/** Masks a key in text that arrives in pieces: holds back text that may be the beginning of the key. */
export class StreamMask {
  readonly #key: string;
  #held = '';

  constructor(key: string) {
    this.#key = key;
  }

  /** The text that can be shown now. */
  add(text: string): string {
    if (this.#key === '') return text;
    const masked = maskKey(this.#held + text, this.#key);
    const held = heldLength(masked, this.#key);
    this.#held = masked.slice(masked.length - held);
    return masked.slice(0, masked.length - held);
  }

  /** Ends the text. Returns what was held back. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }
}

/** The length of the longest suffix of the text that is a prefix of the key. */
function heldLength(text: string, key: string): number {
  for (let length = Math.min(text.length, key.length - 1); length > 0; length -= 1) {
    if (key.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
