// Items of a transcript for tests of the page alone.
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';

export type Tool = Extract<TranscriptItem, { type: 'tool' }>;
export const tool = (id: string, more: Partial<Tool> = {}): Tool => ({
  type: 'tool',
  id,
  name: 'read_file',
  arguments: { path: `src/${id}.ts` },
  state: 'done',
  output: 'text',
  ...more,
});
export const request = (id: string, text: string): TranscriptItem => ({ type: 'request', id, source: 'user', text });
export const answer = (id: string, text: string): TranscriptItem => ({
  type: 'answer',
  id,
  text,
  reasoning: '',
  streaming: false,
  truncated: false,
});
