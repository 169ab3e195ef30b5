// Remembers what endpoints accept, across windows: profiles and parameters learnt from rejected requests.
import * as z from 'zod';
import { describeError } from '../base/errors.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { CAREFUL, type EndpointProfile, hintsIn, shippedProfile } from './profile.ts';

/** Parameters that a request can omit. */
const OPTIONAL_PARAMETERS = [
  'response_format',
  'stream_options',
  'temperature',
  'reasoning_effort',
  'image_url',
  'prompt_cache_key',
  'preserve_thinking',
  'enable_thinking',
  'chat_template_kwargs',
  'tool_stream',
  'tool_choice',
  'thinking',
  'reasoning',
] as const;
/** The same for Responses and Messages only. */
const NATIVE_PARAMETERS = [
  'additional_tools',
  'allowed_tools',
  'block_binding',
  'cache_control',
  'configuration_update',
  'diagnostics',
  'eager_input_streaming',
  'instructions',
  'message_effort',
  'reasoning.summary',
  'system_messages',
  'tool_reference',
] as const;
type OptionalParameter = (typeof OPTIONAL_PARAMETERS)[number] | (typeof NATIVE_PARAMETERS)[number];

export interface EndpointFacts {
  readonly profile: EndpointProfile;
  readonly without: readonly OptionalParameter[];
}

export interface EndpointMemory {
  get(baseUrl: string, model: string): EndpointFacts;
  /** Never throws: facts that cannot be stored are learnt again in the next window. */
  learn(baseUrl: string, model: string, facts: EndpointFacts): Promise<void>;
}

export interface Lesson {
  readonly facts: EndpointFacts;
  /** True: the rejection gave no hint of it. */
  readonly guessed: boolean;
}

/** What to try after this rejection, most likely first; the last ones are the shapes that every endpoint accepts. */
export function lessonsIn(
  { profile, without }: EndpointFacts,
  refusal: { readonly text: string; readonly parameter?: string | undefined },
): Lesson[] {
  const named = OPTIONAL_PARAMETERS.filter(
    (parameter) =>
      !without.includes(parameter) &&
      (refusal.parameter?.split(/[.[]/)[0] === parameter ||
        names(refusal.text, parameter) ||
        // Servers name the missing capability rather than the message part.
        (parameter === 'image_url' && /\b(images?|vision|multi-?modal)\b/i.test(refusal.text))),
  );
  return [
    ...named.map((parameter) => ({ facts: { profile, without: [...without, parameter] }, guessed: false })),
    ...hintsIn(profile, refusal.text).map((hinted) => ({ facts: { profile: hinted, without }, guessed: false })),
    { facts: { profile: { ...profile, ...careful }, without }, guessed: true },
    { facts: { profile: { ...profile, ...careful, queuedInside: true }, without }, guessed: true },
  ];
}

/** The shape of messages that every endpoint accepts; the other fields depend on the model. */
const { reasoning: _reasoning, signatures: _signatures, ids: _ids, limitField: _limit, ...careful } = CAREFUL;

/** The name of a parameter that is also a word of other rejections must be in quotation marks. */
function names(text: string, parameter: OptionalParameter): boolean {
  if (parameter !== 'thinking' && parameter !== 'reasoning') return text.includes(parameter);
  return ["'", '"', '`'].some((mark) => text.includes(`${mark}${parameter}${mark}`));
}

const fileSchema = z.strictObject({
  v: z.literal(1),
  endpoints: z.record(
    z.string(),
    z.strictObject({
      profile: z.strictObject({
        systemRole: z.enum(['system', 'developer']),
        midSystem: z.boolean(),
        toolContent: z.enum(['parts', 'text']),
        userAfterTool: z.boolean(),
        alternation: z.enum(['free', 'strict']),
        // Absent in files of earlier versions.
        midTools: z.boolean().optional(),
        queuedInside: z.boolean().optional(),
        singleCalls: z.boolean().optional(),
        reasoning: z.enum(['never', 'same-field', 'always']).optional(),
        signatures: z.boolean().optional(),
        ids: z.enum(['any', 'plain64', 'plain40', 'nine']).optional(),
        limitField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
      }),
      without: z.array(z.enum([...OPTIONAL_PARAMETERS, ...NATIVE_PARAMETERS])),
    }),
  ),
});

type StoredFacts = z.infer<typeof fileSchema>['endpoints'][string];

export function createEndpointMemory(learnt = new Map<string, StoredFacts | EndpointFacts>()): EndpointMemory {
  return {
    get: (baseUrl, model) => {
      const shipped = shippedProfile(baseUrl, model);
      const { profile, without } = learnt.get(endpointKey(baseUrl, model)) ?? { profile: {}, without: [] };
      const known = { ...shipped, ...definedFields(profile) };
      // Earlier versions stored it as true for every endpoint that did not refuse it.
      return { profile: { ...known, midSystem: shipped.midSystem && known.midSystem }, without };
    },
    learn: async (baseUrl, model, facts) => void learnt.set(endpointKey(baseUrl, model), facts),
  };
}

function definedFields(profile: StoredFacts['profile'] | EndpointProfile | object): Partial<EndpointProfile> {
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined));
}

/** Chat templates depend on the model and rejections on the server, so both are part of the key. */
function endpointKey(baseUrl: string, model: string): string {
  return `${baseUrl} ${model}`;
}

/** Stored in one small file. An unreadable file is logged and ignored. */
export async function openEndpointMemory(deps: {
  files: FileSystem;
  folder: string;
  logger: Logger;
}): Promise<EndpointMemory> {
  const { files, logger } = deps;
  const path = `${deps.folder}/endpoints.json`;
  const learnt = new Map<string, StoredFacts | EndpointFacts>();
  try {
    const bytes = await files.read(path);
    const parsed = bytes && fileSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
    for (const [name, facts] of Object.entries(parsed?.endpoints ?? {})) learnt.set(name, facts);
  } catch (error) {
    logger.warn(`the stored endpoint profiles cannot be read and are learnt again: ${describeError(error)}`);
  }
  const memory = createEndpointMemory(learnt);
  return {
    get: memory.get,
    learn: async (baseUrl, model, facts) => {
      await memory.learn(baseUrl, model, facts);
      const content: z.infer<typeof fileSchema> = {
        v: 1,
        endpoints: Object.fromEntries(
          [...learnt].map(([name, { profile, without }]) => [name, { profile, without: [...without] }]),
        ),
      };
      try {
        await files.makeFolder(deps.folder);
        await files.writeWhole(path, new TextEncoder().encode(JSON.stringify(content)));
      } catch (error) {
        logger.warn(`the profile of ${baseUrl} cannot be stored: ${describeError(error)}`);
      }
    },
  };
}
