// The HTML of a page: scripts by nonce, styles and fonts only from the extension's folders.
import { PAGE_STYLES } from '../../core/frontend/pageStyles.ts';

export type PageName = 'chat' | 'agents' | 'overview';

export interface PageHtmlOptions {
  readonly page: PageName;
  /** Where styles, fonts and images may come from. */
  readonly source: string;
  readonly nonce: string;
  readonly language: string;
  /** Translations by the English text. */
  readonly bundle: Readonly<Record<string, unknown>>;
  uri(...path: string[]): string;
}

export function pageHtml({ page, source, nonce, language, bundle, uri }: PageHtmlOptions): string {
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${source}`,
    `font-src ${source}`,
    `img-src ${source} data:`,
    'media-src data:',
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${/^[\w-]+$/.test(language) ? language : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
${[...PAGE_STYLES, ...(page === 'chat' ? [] : [`${page}.css`])].map((name) => `<link rel="stylesheet" href="${uri('media', name)}">`).join('\n')}
<title>Earshot</title>
</head>
<body>
<div id="root"></div>
<script type="application/json" id="l10n">${JSON.stringify(bundle).replaceAll('<', '\\u003c')}</script>
<script type="module" nonce="${nonce}" src="${uri('dist', 'webview', `${page}.js`)}"></script>
</body>
</html>`;
}
