// The older HTTP transport, with one event stream for everything that a server sends. Deprecated, but still in use.
import { SSEClientTransport, type SSEClientTransportOptions, type Transport } from '@modelcontextprotocol/client';
import { HttpTransport } from './httpTransport.ts';

// eslint-disable-next-line @typescript-eslint/no-deprecated -- older servers speak nothing else
const EventStreamTransport = SSEClientTransport;
export type EventStream = InstanceType<typeof EventStreamTransport>;

export function createEventStream(url: URL, options: SSEClientTransportOptions): EventStream {
  return new EventStreamTransport(url, options);
}

/** Whether this transport can finish a sign-in. */
export function canSignIn(transport: Transport): transport is HttpTransport | EventStream {
  return transport instanceof HttpTransport || transport instanceof EventStreamTransport;
}
