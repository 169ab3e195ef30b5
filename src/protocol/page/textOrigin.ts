// Where text of a call comes from, if it stands verbatim in a text from outside that the conversation received.

/** Who wrote the text. `tool`: what a tool runs, or a tool of which nothing is known any more. */
export const TEXT_SOURCES = ['page', 'server', 'message', 'notification', 'file', 'command', 'tool'] as const;

export interface TextSource {
  readonly type: (typeof TEXT_SOURCES)[number];
  /** The address, server, sender, path or command line; the label of a notification. May be empty. */
  readonly name: string;
  /** The subject of a notification, or the address of a resource. */
  readonly detail?: string | undefined;
}

/** A mark on an approval. */
export interface TextOrigin {
  /** As the arguments of the call have it; cut if it is long. */
  readonly text: string;
  /** `text`: anything else. The others are never approved automatically. */
  readonly kind: 'command' | 'address' | 'path' | 'text';
  readonly source: TextSource;
  /** The item of the transcript that shows where it came from, and its conversation if that is another one. */
  readonly item: string;
  readonly conversation?: string;
  /** The number of that call in its conversation. */
  readonly call?: number;
}
