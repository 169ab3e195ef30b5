// An immutable list in chunks: a change copies one chunk, and the page renders one chunk again.

const CHUNK = 32;

export interface Chunked<T> {
  /** All but the last have the same length. */
  readonly chunks: readonly (readonly T[])[];
  readonly length: number;
}

export function chunked<T>(values: readonly T[] = []): Chunked<T> {
  const chunks: T[][] = [];
  for (let start = 0; start < values.length; start += CHUNK) chunks.push(values.slice(start, start + CHUNK));
  return { chunks, length: values.length };
}

export function valueAt<T>(list: Chunked<T>, position: number): T | undefined {
  return list.chunks[Math.floor(position / CHUNK)]?.[position % CHUNK];
}

export function replaceAt<T>(list: Chunked<T>, position: number, value: T): Chunked<T> {
  const place = Math.floor(position / CHUNK);
  const chunk = list.chunks[place];
  if (chunk === undefined || position % CHUNK >= chunk.length) throw new RangeError(`no value at ${position}`);
  return { chunks: list.chunks.with(place, chunk.with(position % CHUNK, value)), length: list.length };
}

export function appendTo<T>(list: Chunked<T>, values: readonly T[]): Chunked<T> {
  if (values.length === 0) return list;
  const last = list.length % CHUNK === 0 ? [] : (list.chunks.at(-1) ?? []);
  const whole = last.length === 0 ? list.chunks : list.chunks.slice(0, -1);
  return { chunks: [...whole, ...chunked([...last, ...values]).chunks], length: list.length + values.length };
}

/** Copies the whole list; removals are rare. */
export function removeAt<T>(list: Chunked<T>, position: number): Chunked<T> {
  return chunked(list.chunks.flat().toSpliced(position, 1));
}
