// UI strings about text of a call that came from outside.
import type { TextSource } from '../../protocol/page/textOrigin.ts';
import { t } from './l10n.ts';

/** Where a text came from, with its name, which may be empty. */
const places = {
  page: (name) => t('the page {0}', name),
  server: (name) => t('a result of the MCP server “{0}”', name),
  message: (name) => (name === '' ? t('a message of another agent') : t('a message of {0}', name)),
  notification: (name) => (name === '' ? t('a notification') : t('a notification ({0})', name)),
  file: (name) => t('the file {0}', name),
  command: (name) => t('the output of the command {0}', name),
  tool: (name) => t('the tool {0}', name),
} satisfies Record<TextSource['type'], (name: string) => string>;

export const originStrings = {
  title: t('Text from outside'),
  place: (type: TextSource['type'], name: string) => places[type](name),
  from: (text: string, place: string) => t('“{0}” came from {1}', text, place),
  fromCall: (text: string, place: string, call: number) => t('“{0}” came from {1} (call {2})', text, place, call),
  elsewhere: (line: string) => t('{0}, in another conversation', line),
  show: t('Show where it came from'),
  more: (count: number) => (count === 1 ? t('and 1 more text') : t('and {0} more texts', count)),
};
