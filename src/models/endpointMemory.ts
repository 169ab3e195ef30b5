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
] as const;
/** The same for Responses and Messages, where each means a capability. */
const NATIVE_PARAMETERS = [
  'additional_tools',
  'allowed_tools',
  'block_binding',
  'cache_control',
  'configuration_update',
  'eager_input_streaming',
  'instructions',
  'prompt_cache_key',
  'reasoning',
  'reasoning.summary',
  'system_messages',
  'thinking',
  'tool_reference',
] as const;
export type OptionalParameter = (typeof OPTIONAL_PARAMETERS)[number] | (typeof NATIVE_PARAMETERS)[number];

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

/** What to try after this rejection, most likely first; the last one is the profile that every endpoint accepts. */
export function lessonsIn(
  { profile, without }: EndpointFacts,
  refusal: { readonly text: string; readonly parameter?: string | undefined },
): Lesson[] {
  const named = OPTIONAL_PARAMETERS.filter(
    (parameter) =>
      !without.includes(parameter) &&
      (refusal.parameter?.startsWith(parameter) === true ||
        refusal.text.includes(parameter) ||
        // Servers name the missing capability rather than the message part.
        (parameter === 'image_url' && /\b(images?|vision|multi-?modal)\b/i.test(refusal.text))),
  );
  return [
    ...named.map((parameter) => ({ facts: { profile, without: [...without, parameter] }, guessed: false })),
    ...hintsIn(profile, refusal.text).map((hinted) => ({ facts: { profile: hinted, without }, guessed: false })),
    { facts: { profile: CAREFUL, without }, guessed: true },
  ];
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
      }),
      without: z.array(z.enum([...OPTIONAL_PARAMETERS, ...NATIVE_PARAMETERS])),
    }),
  ),
});

export function createEndpointMemory(learnt = new Map<string, EndpointFacts>()): EndpointMemory {
  return {
    get: (baseUrl, model) =>
      learnt.get(endpointKey(baseUrl, model)) ?? { profile: shippedProfile(baseUrl), without: [] },
    learn: async (baseUrl, model, facts) => void learnt.set(endpointKey(baseUrl, model), facts),
  };
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
  const learnt = new Map<string, EndpointFacts>();
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
