// Maps types of the client library to those of the session port.
import { type GetPromptResult, type ResourceTemplateType, type Tool, UriTemplate } from '@modelcontextprotocol/client';
import { contentText } from '../tools/contentText.ts';
import { type McpResource, type McpTool } from './sessionPort.ts';

export function toolOf({ name, title, description, inputSchema, annotations }: Tool, mayBeTask: boolean): McpTool {
  return { name, title: title ?? annotations?.title, description, inputSchema, annotations, mayBeTask };
}

/** A line for the card of the call. */
export function describeProgress({
  progress,
  total,
  message,
}: {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}): string {
  const share = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined ? share : `${share}: ${message.slice(0, 1000)}`;
}

/** The messages of a prompt as one text for the composer. */
export function describePrompt({ messages }: GetPromptResult): string {
  return messages.map(({ content }) => contentText([content])).join('\n\n');
}

/** Leaves out templates that are not valid. */
export function templatesOf(templates: readonly ResourceTemplateType[] = []): readonly McpResource[] {
  return templates.flatMap(({ uriTemplate, name, title, description, mimeType }) => {
    try {
      const variables = new UriTemplate(uriTemplate).variableNames;
      return [{ uri: uriTemplate, name, title, description, mimeType, variables }];
    } catch {
      return [];
    }
  });
}

export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return new UriTemplate(template).expand({ ...values });
}
