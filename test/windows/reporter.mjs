// A reporter for `node --test` that writes each result as a line of JSON.
/** @param {AsyncIterable<{ type: string, data: any }>} source */
export default async function* reporter(source) {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // A file is a test of its own when it could not be run.
    const { name, skip, todo, nesting } = data;
    const error = type === 'test:fail' ? String(data.details?.error?.cause?.stack ?? data.details?.error) : undefined;
    const reason = [skip, todo].find((one) => typeof one === 'string');
    yield `${JSON.stringify({ name, nesting, skipped: skip !== undefined || todo !== undefined, reason, error })}\n`;
  }
}
