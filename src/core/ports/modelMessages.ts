// The messages that a model reads, independent of an endpoint's format.
import { type Carried } from '../../protocol/event.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, exactly as the model will read its own call again. */
  readonly arguments: string;
}

/** The notifications that a message carries, kept apart from its own content. */
export type Block = Pick<Carried, 'format' | 'text'> & {
  /** The carrier's id; only where the block is formatted as a tool call, which must have one. */
  readonly id?: string;
};

/** An image as a message refers to it; the bytes are a snapshot. */
export interface ImageReference {
  readonly hash: string;
  readonly mediaType: string;
  readonly name: string;
}

export type ModelMessage =
  | {
      readonly role: 'user';
      readonly content: string;
      readonly block?: Block;
      readonly images?: readonly ImageReference[];
    }
  | { readonly role: 'assistant'; readonly content: string; readonly calls: readonly ToolCall[] }
  | {
      readonly role: 'tool';
      readonly call: string;
      readonly content: string;
      /** The call failed. */
      readonly failed?: true;
      readonly block?: Block;
      /** Images of the user's messages in the block. */
      readonly images?: readonly ImageReference[];
    };

/** Prices of a million tokens, all in one currency. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cached?: number | undefined;
}
