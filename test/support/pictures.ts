// Decides which tests of the browser get a picture, and its name.
import { isFull } from './runs.ts';

/** Failed tests get a picture; in `npm run test:full` all tests do. */
export function needsPicture({ result }: { readonly result?: { readonly state: string } | undefined }): boolean {
  return result?.state === 'fail' || isFull;
}

/** The name of the picture that is taken at the end of a test. */
export function pictureOf({ file, name }: { readonly file: { readonly name: string }; readonly name: string }): string {
  return `${file.name.replace(/^.*\/|\.browser.*$/g, '')}-${name}`;
}
