// Collects the licence texts of everything that is bundled according to esbuild's metafile.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { UserError } from '../console/errors.mjs';

const isLicence = /^(licen[cs]e|copying|notice)([-.].*)?$/i;
const inPackage = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//;
const rule = '-'.repeat(80);

const head = `Earshot contains the following third-party software, each under its own licence.
`;

/** Copied code that is not in the bundler's metafile. */
const icons = `Codicons (https://github.com/microsoft/vscode-codicons)
Copyright (c) Microsoft Corporation. The icons are licensed under the Creative Commons Attribution 4.0 International
licence: https://creativecommons.org/licenses/by/4.0/legalcode
`;

/** Bundled by unpdf, whose own licence is another. */
const pdfjs = `PDF.js (https://github.com/mozilla/pdf.js)
Copyright Mozilla Foundation. Licensed under the Apache License, Version 2.0:
https://www.apache.org/licenses/LICENSE-2.0
`;

export async function collectNotices(repository: string, metafiles: readonly Metafile[]): Promise<string> {
  const folders = new Map<string, string>();
  for (const input of metafiles.flatMap(({ inputs }) => Object.keys(inputs))) {
    const [, folder, name] = inPackage.exec(input) ?? [];
    if (folder !== undefined && name !== undefined) folders.set(folder, name);
  }
  const sorted = [...folders].sort(([, a], [, b]) => (a < b ? -1 : 1));
  const notices = await Promise.all(sorted.map(([folder, name]) => noticeOf(join(repository, folder), name)));
  return [head, ...notices, pdfjs, icons].join(`\n${rule}\n\n`);
}

async function noticeOf(folder: string, name: string): Promise<string> {
  const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    version: string;
    license?: string;
  };
  const files = (await readdir(folder)).filter((file) => isLicence.test(file)).sort();
  if (files.length === 0) {
    throw new UserError(
      `${name} ${version} is bundled, but has no file with its licence (${license ?? 'none named'}).`,
      'Bundle another package, or put the text of its licence into test/host/packaging/notices.ts.',
    );
  }
  const texts = await Promise.all(files.map(async (file) => (await readFile(join(folder, file), 'utf8')).trim()));
  return `${name} ${version} (${license ?? 'see below'})\n\n${texts.join('\n\n')}\n`;
}
