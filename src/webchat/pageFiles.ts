// The files of the web chat's page: its HTML, and the scripts and style sheets of the extension that it may load.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignore } from '../base/async.ts';
import { HANDLED } from '../core/frontend/page/pageOffers.ts';
import { type FromPage } from '../protocol/webview.ts';
import { PAGE_STYLES } from '../core/frontend/pageStyles.ts';

/** The messages that the web chat handles besides those that every host of a page handles. */
export const HANDLED_HERE = ['complete', 'choose_completion', 'failed'] as const;
/** The page hides everything that would send others. */
const OFFERED: readonly FromPage['type'][] = ['ready', ...HANDLED, ...HANDLED_HERE];

export interface PageFile {
  readonly type: string;
  readonly body: string | Buffer;
}

const STYLES = ['web.css', ...PAGE_STYLES];

export interface PageFilesOptions {
  /** The extension's folder. */
  readonly root: string;
  readonly language: string;
}

/** Serves nothing outside the two folders: a name cannot contain a separator. */
export function createPageFiles({ root, language }: PageFilesOptions): (path: string) => Promise<PageFile | undefined> {
  return async (path) => {
    if (path === 'index.html') {
      return { type: 'text/html; charset=utf-8', body: html(language, await readBundle(root, language)) };
    }
    const [, folder, name = ''] = /^(media|webview)\/([\w-]+\.(?:js|css))$/.exec(path) ?? [];
    if (path === 'media/icon.png') return read(join(root, path), 'image/png');
    if (folder === 'media' && STYLES.includes(name)) return read(join(root, 'media', name), 'text/css');
    if (folder === 'webview' && name.endsWith('.js'))
      return read(join(root, 'dist', 'webview', name), 'text/javascript');
    return undefined;
  };
}

async function read(path: string, type: string): Promise<PageFile | undefined> {
  const body = await readFile(path).catch(ignore);
  return body && { type: type.startsWith('text/') ? `${type}; charset=utf-8` : type, body };
}

async function readBundle(root: string, language: string): Promise<unknown> {
  if (!/^[a-z]{2,3}$/.test(language)) return {};
  const text = await readFile(join(root, 'media', 'l10n', `bundle.l10n.${language}.json`), 'utf8').catch(() => '{}');
  return JSON.parse(text) as unknown;
}

/** All addresses are relative, so that a proxy can serve the page under any path. */
function html(language: string, bundle: unknown): string {
  return `<!DOCTYPE html>
<html lang="${/^[\w-]+$/.test(language) ? language : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${STYLES.map((name) => `<link rel="stylesheet" href="media/${name}">`).join('\n')}
<link rel="icon" href="media/icon.png">
<title>Earshot</title>
</head>
<body class="web">
<div id="root"></div>
<script type="application/json" id="offers">${JSON.stringify(OFFERED)}</script>
<script type="application/json" id="l10n">${JSON.stringify(bundle).replaceAll('<', '\\u003c')}</script>
<script type="module" src="webview/web.js"></script>
</body>
</html>`;
}
