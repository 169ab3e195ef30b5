// Decides what a stream of server-sent events says: bytes in any pieces → the data of each event. Pure.

/** Nobody sends this much in one event; more would only fill memory. */
const LIMIT = 16 * 1024 * 1024;

export class SseReader {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string[] = [];

  /** The events that these bytes complete. Comments, which only keep a connection alive, give none. */
  push(bytes: Uint8Array): string[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    return this.#read();
  }

  /** The stream is over; a last event may lack its blank line. */
  end(): string[] {
    this.#rest += `${this.#decoder.decode()}\n\n`;
    return this.#read();
  }

  #read(): string[] {
    const events: string[] = [];
    let start = 0;
    for (let end = this.#rest.indexOf('\n'); end !== -1; end = this.#rest.indexOf('\n', start)) {
      const line = this.#rest.slice(start, this.#rest[end - 1] === '\r' && end > start ? end - 1 : end);
      start = end + 1;
      if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
      else if (line === '' && this.#data.length > 0) {
        events.push(this.#data.join('\n'));
        this.#data = [];
      }
    }
    this.#rest = this.#rest.slice(start);
    if (this.#rest.length > LIMIT) throw new Error('one event of the stream is larger than 16 MiB');
    return events;
  }
}
