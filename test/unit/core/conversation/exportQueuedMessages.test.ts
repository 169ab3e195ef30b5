// Queued messages in an export: each once, where it was delivered; withdrawn ones are left out.
import { expect, test } from 'vitest';
import { exportMarkdown } from '../../../../src/core/conversation/export.ts';
import { type EventDraft } from '../../../../src/protocol/event.ts';
import { numbered, request, started, turnStarted } from '../../../support/log/events.ts';

const queuedText = (content: string): EventDraft => ({ type: 'user_text_queued', content });

/** A request that consists of the queued messages with these ids, or has them in its block. */
const carrying = (content: string, user_text: string[], text = ''): EventDraft => ({
  type: 'chat_request',
  content,
  source: 'user',
  notifications: { format: 'xml', text, through: 0, user_text, shown: [], merged: [], counted: [], filtered: [] },
});

test('an export has each delivered queued message once and no withdrawn one', () => {
  const events = numbered(
    started,
    turnStarted,
    request('Begin.'),
    queuedText('became a request'),
    carrying('became a request', ['event-4']),
    queuedText('rode in a block'),
    carrying('Next.', ['event-6'], '<notifications><user_message>…</user_message></notifications>'),
    queuedText('taken back'),
    { type: 'user_text_withdrawn', ids: ['event-8'], reason: 'taken back' },
  );
  const text = exportMarkdown({ id: 'c', events });
  expect(text.split('became a request')).toHaveLength(2);
  expect(text).toContain('## You, meanwhile\n\nrode in a block');
  expect(text).not.toContain('taken back');
});
