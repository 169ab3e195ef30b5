// UI strings of the chip with the active editor.
import type { EditorContext } from '../../protocol/page/controlsView.ts';
import { t } from './l10n.ts';

const TITLES: Readonly<Record<EditorContext, (path: string) => string>> = {
  off: (path) => t('Not sent: {0}', path),
  file: (path) => t('Sent without text: {0}', path),
  selection: (path) => t('Sent with the selected text: {0}', path),
};

export const editorStrings = {
  title: (path: string, context: EditorContext) => TITLES[context](path),
  withText: t('with text'),
  remove: (name: string) => t('Do not send {0}', name),
};
