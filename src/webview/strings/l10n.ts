// Translates UI strings with the bundle that the host put into the page.

const bundle = readBundle();

/** `{0}`, `{1}` … are replaced by the values. */
export function t(text: string, ...values: readonly (string | number)[]): string {
  const translation = Object.hasOwn(bundle, text) ? bundle[text] : undefined;
  return (translation ?? text).replace(/\{(\d)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}

/** Whether the page is shown in another language than English. */
export const isTranslated = Object.keys(bundle).length > 0;

function readBundle(): Readonly<Record<string, string>> {
  const text = typeof document === 'undefined' ? '' : (document.getElementById('l10n')?.textContent ?? '');
  return text === '' ? {} : (JSON.parse(text) as Record<string, string>);
}
