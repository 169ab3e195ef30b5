// Streamable HTTP that reports the end of a request's stream: without that, the client library would wait for the
// answer forever.
import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { defined } from '../../base/json/defined.ts';

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

export class HttpTransport extends StreamableHTTPClientTransport {
  /** Called for each sent message. Returns a function to call when its stream has ended, with or without an answer. */
  streamEnd: (() => (() => void) | undefined) | undefined;

  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const onRequestStreamEnd = options?.onRequestStreamEnd ?? this.streamEnd?.();
    return super.send(message, { ...options, ...defined({ onRequestStreamEnd }) });
  }
}
