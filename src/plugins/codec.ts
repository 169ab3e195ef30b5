// The codec port of plugins: decodes one line to a request and encodes one message as a line. Does not split lines.
import { type HostMessage, type PluginRequest } from '../protocol/plugin.ts';

export type Decoded<Request = PluginRequest> =
  | { readonly ok: true; readonly request: Request }
  /** `request` is the line's `type` if it can be read, or empty; `id` is its id if that is a string. */
  | { readonly ok: false; readonly request: string; readonly id?: string; readonly message: string };

export interface PluginCodec<Request = PluginRequest> {
  /** `line` is undefined if it was not valid UTF-8. Never throws. */
  decode(line: string | undefined): Decoded<Request>;
  /** Returns the line without its line break. */
  encode(message: HostMessage): string;
}
