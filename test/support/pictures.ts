// Takes pictures of windows, and decides which tests of the browser get one, and its name.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Page } from 'playwright-core';
import { isFull } from './runs.ts';

const screenshots = resolve(import.meta.dirname, '../../.build/screenshots');

export async function takePicture(name: string, page: Page): Promise<void> {
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name.replace(/[^a-z0-9]+/gi, '-')}.png`) });
}

/** Failed tests get a picture; in `npm run test:full` all tests do. */
export function needsPicture({ result }: { readonly result?: { readonly state: string } | undefined }): boolean {
  return result?.state === 'fail' || isFull;
}

/** The name of the picture that is taken at the end of a test. */
export function pictureOf({ file, name }: { readonly file: { readonly name: string }; readonly name: string }): string {
  return `${file.name.replace(/^.*\/|\.browser.*$/g, '')}-${name}`;
}
