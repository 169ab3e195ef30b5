// The messages that a model reads, independent of an endpoint's format.
import { type Carried, type WireOrigin } from '../../protocol/event.ts';

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
  /** Estimated; absent: not known. */
  readonly tokens?: number;
}

export type ModelMessage =
  | {
      readonly role: 'user';
      readonly content: string;
      readonly block?: Block;
      /** Messages that the user had queued, delivered after `content`. */
      readonly queued?: readonly string[];
      readonly images?: readonly ImageReference[];
    }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly calls: readonly ToolCall[];
      /** The same answer as its API returned it. Resent by the adapter of that API; everything else reads the fields above. */
      readonly origin?: WireOrigin;
    }
  | {
      readonly role: 'tool';
      readonly call: string;
      readonly content: string;
      /** The call failed. */
      readonly failed?: true;
      readonly block?: Block;
      /** Messages of the user that are delivered after this result, never inside it. Absent in logs of earlier versions. */
      readonly queued?: readonly string[];
      /** Images of the user's messages. */
      readonly images?: readonly ImageReference[];
      /** Images that are part of the result. */
      readonly resultImages?: readonly ImageReference[];
      /** Names of tools that the model may call from here on (`ModelRequest.found` describes them). */
      readonly found?: readonly string[];
    };

/** Prices of a million tokens, all in one currency. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cached?: number | undefined;
  /** Tokens written to the endpoint's cache. */
  readonly written?: number | undefined;
}
