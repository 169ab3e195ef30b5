// Maps the client library's types to ours.
import { type GetPromptResult, type Tool } from '@modelcontextprotocol/client';
import { contentText } from '../tools/contentText.ts';
import { type McpTool } from './sessionPort.ts';

export function toolOf({ name, title, description, inputSchema, annotations, execution }: Tool): McpTool {
  return {
    name,
    title: title ?? annotations?.title,
    description,
    inputSchema,
    annotations,
    task: execution?.taskSupport ?? 'forbidden',
  };
}

/** The messages of a prompt as one text for the composer. */
export function describePrompt({ messages }: GetPromptResult): string {
  return messages.map(({ content }) => contentText([content])).join('\n\n');
}
