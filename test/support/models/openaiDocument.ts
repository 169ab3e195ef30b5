// Judges requests by OpenAI's OpenAPI document.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

type Request = 'CreateResponse' | 'CreateChatCompletionRequest';

const document = JSON.parse(readFileSync(new URL('openaiDocument.json', import.meta.url), 'utf8')) as Readonly<
  Record<Request, Parameters<typeof z.fromJSONSchema>[0]>
>;
const schemas = {
  CreateResponse: z.fromJSONSchema(document.CreateResponse),
  CreateChatCompletionRequest: z.fromJSONSchema(document.CreateChatCompletionRequest),
};

/** What the document refuses in a body. */
export function refusedByDocument(request: Request, body: object): readonly unknown[] {
  const judged = request === 'CreateResponse' ? withServerState(body) : body;
  return schemas[request].safeParse(judged).error?.issues ?? [];
}

/** The document does not have this item yet (MODELS 1.2 no. 8, 7), so it is judged by what is stated there. */
const configurationUpdate = z.strictObject({
  type: z.literal('configuration_update'),
  reasoning: z
    .strictObject({ effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']) })
    .optional(),
  text: z.strictObject({ format: z.looseObject({ type: z.enum(['text', 'json_schema', 'json_object']) }) }).optional(),
});

/**
 * The document requires ids of items that the server has made. Without storage it knows none of them, and refuses
 * them, so they are not sent and only added here.
 */
function withServerState(body: { readonly input?: readonly object[] }): object {
  const known = body.input?.filter((item) => !configurationUpdate.safeParse(item).success);
  const input = known?.map((item: { type?: unknown; role?: unknown; content?: unknown }) => {
    if (item.type === 'reasoning') return { ...item, id: 'rs_1' };
    if (item.type !== 'message' || item.role !== 'assistant' || !Array.isArray(item.content)) return item;
    const content = (item.content as object[]).map((part) => ({ ...part, logprobs: [] }));
    return { ...item, content, id: 'msg_1', status: 'completed' };
  });
  return { ...body, input };
}
