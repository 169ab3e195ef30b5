// Requests past the client library, which refuses results of the tasks extension (revision 2026-07-28).
import { isJSONRPCErrorResponse, isJSONRPCResultResponse, type Transport } from '@modelcontextprotocol/client';
import { DispatchError, type JsonRpcResponse, type RawClientDispatch } from '@modelcontextprotocol/ext-tasks/client';

export class RawRequests {
  readonly #transport: Transport;
  readonly #limit: number;
  readonly #waiting = new Map<string, PromiseWithResolvers<JsonRpcResponse>>();
  #sent = 0;

  /** For a connected transport. `limit`: milliseconds for an answer. */
  constructor(transport: Transport, limit: number) {
    this.#transport = transport;
    this.#limit = limit;
    const onward = transport.onmessage;
    transport.onmessage = (message, extra) => {
      const id = 'id' in message ? message.id : undefined;
      const waiting = typeof id === 'string' ? this.#waiting.get(id) : undefined;
      if (waiting === undefined) onward?.(message, extra);
      else if (isJSONRPCResultResponse(message)) waiting.resolve({ kind: 'result', result: message.result as never });
      else if (isJSONRPCErrorResponse(message)) waiting.resolve({ kind: 'error', error: message.error as never });
      else onward?.(message, extra);
    };
  }

  readonly dispatch: RawClientDispatch = async (request, options) => {
    // The client library counts its own requests in numbers.
    const id = `task-${++this.#sent}`;
    const waiting = Promise.withResolvers<JsonRpcResponse>();
    this.#waiting.set(id, waiting);
    const late = AbortSignal.timeout(this.#limit);
    const signal = options?.signal === undefined ? late : AbortSignal.any([options.signal, late]);
    const abort = () => {
      const why = late.aborted ? `it did not answer within ${this.#limit / 1000} s` : 'the request was cancelled';
      waiting.reject(new DispatchError(why));
      if (this.#transport.hasPerRequestStream !== true) this.#cancel(id);
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const sending = this.#transport.send({ ...(request as object), jsonrpc: '2.0', id } as never, {
        requestSignal: signal,
        // Fires also right after the answer.
        onRequestStreamEnd: () => waiting.reject(new DispatchError('the connection ended before its answer')),
      });
      sending.catch((error: unknown) => waiting.reject(error));
      return await waiting.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#waiting.delete(id);
    }
  };

  #cancel(requestId: string): void {
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } } as const;
    this.#transport.send(message).catch(() => undefined);
  }
}
