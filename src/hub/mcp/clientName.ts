// Finds the name of an MCP client: in `initialize`, or in the metadata of any request (2026-07-28).
import { type Readable, Transform } from 'node:stream';
import * as z from 'zod';
import { LineSplitter } from '../../base/json/jsonLines.ts';

const MOST_LINE_BYTES = 1024 * 1024;
/** How many lines are searched for the client's name. */
const MOST_LINES = 20;

const named = z.object({ name: z.string() });
const lineSchema = z.object({
  params: z.object({
    clientInfo: named.optional(),
    _meta: z.object({ 'io.modelcontextprotocol/clientInfo': named.optional() }).optional(),
  }),
});

export interface WatchedInput {
  /** Has the same bytes as the source. */
  readonly input: Readable;
  /** Undefined until the name was found. */
  clientName(): string | undefined;
}

export function watchClientName(source: Readable): WatchedInput {
  let name: string | undefined;
  let lines = 0;
  const splitter = new LineSplitter(MOST_LINE_BYTES, {
    onLine: (line) => {
      lines += 1;
      name ??= nameIn(line ?? '');
    },
    onTooLong: () => {
      lines = MOST_LINES;
    },
  });
  const input = source.pipe(
    new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (name === undefined && lines < MOST_LINES) splitter.write(chunk);
        done(null, chunk);
      },
    }),
  );
  return { input, clientName: () => name };
}

function nameIn(line: string): string | undefined {
  try {
    const { params } = lineSchema.parse(JSON.parse(line));
    return (params.clientInfo ?? params._meta?.['io.modelcontextprotocol/clientInfo'])?.name;
  } catch {
    return undefined;
  }
}
