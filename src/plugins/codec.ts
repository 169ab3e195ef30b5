// The codec port of plugins: turns one line into a request and one message into a line. Framing is not its business.
import { type HostMessage, type PluginRequest } from '../protocol/plugin.ts';

export type Decoded<Request = PluginRequest> =
  | { readonly ok: true; readonly request: Request }
  /** `request` is the line's `type` as far as it can be read, `id` its id if that is a string. */
  | { readonly ok: false; readonly request: string; readonly id?: string; readonly message: string };

export interface PluginCodec<Request = PluginRequest> {
  /** Undefined: the line is not valid UTF-8. Never throws. */
  decode(line: string | undefined): Decoded<Request>;
  /** Without the line's end. */
  encode(message: HostMessage): string;
}
