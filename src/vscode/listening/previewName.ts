// Names the preview of a change to a settings file.
import { createHash } from 'node:crypto';
import { type HookChange } from '../../plugins/hook/hookInstaller.ts';

/** Differs whenever the content does: VS Code may still have the content of an earlier preview. */
export function previewName({ before, after }: Pick<HookChange, 'before' | 'after'>): string {
  return createHash('sha256')
    .update(JSON.stringify([before, after]))
    .digest('hex');
}
