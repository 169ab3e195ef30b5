// Streamable HTTP that says when the stream of a request has ended: the client library would wait for the answer for ever.
import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

export class HttpTransport extends StreamableHTTPClientTransport {
  /** Called for each message that is sent: returns what to call when its stream has ended, with or without an answer. */
  streamEnd: (() => (() => void) | undefined) | undefined;

  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const onRequestStreamEnd = options?.onRequestStreamEnd ?? this.streamEnd?.();
    return super.send(message, { ...options, ...(onRequestStreamEnd !== undefined && { onRequestStreamEnd }) });
  }
}
