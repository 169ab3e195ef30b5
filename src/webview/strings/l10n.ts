// Translates UI strings with the bundle that the host put into the page.

const bundle = readBundle();

/** `{0}`, `{1}` … are replaced by the values. */
export function t(text: string, ...values: readonly (string | number)[]): string {
  return (bundle[text] ?? text).replace(/\{(\d)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}

function readBundle(): Readonly<Record<string, string>> {
  const text = typeof document === 'undefined' ? '' : (document.getElementById('l10n')?.textContent ?? '');
  return text === '' ? {} : (JSON.parse(text) as Record<string, string>);
}
