// Decides what is remembered of endpoints between windows: profiles and parameters that were learnt from refusals.
import * as z from 'zod';
import { describeError } from '../base/errors.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type FileSystem } from '../node/fileSystem.ts';
import { CAREFUL, type EndpointProfile, hintsIn, shippedProfile } from './profile.ts';

/** What a request can do without. */
const OPTIONAL_PARAMETERS = [
  'response_format',
  'stream_options',
  'temperature',
  'reasoning_effort',
  'image_url',
] as const;
export type OptionalParameter = (typeof OPTIONAL_PARAMETERS)[number];

export interface EndpointFacts {
  readonly profile: EndpointProfile;
  readonly without: readonly OptionalParameter[];
}

export interface EndpointMemory {
  get(baseUrl: string, model: string): EndpointFacts;
  /** Never throws: what cannot be kept is learnt again. */
  learn(baseUrl: string, model: string, knowledge: EndpointFacts): Promise<void>;
}

export interface Lesson {
  readonly knowledge: EndpointFacts;
  /** Nothing in the refusal pointed to it. */
  readonly guessed: boolean;
}

/** What to try after this refusal, the surest first; the last is everything at once. */
export function lessonsIn(
  { profile, without }: EndpointFacts,
  refusal: { readonly text: string; readonly parameter?: string | undefined },
): Lesson[] {
  const named = OPTIONAL_PARAMETERS.filter(
    (parameter) =>
      !without.includes(parameter) &&
      (refusal.parameter?.startsWith(parameter) === true ||
        refusal.text.includes(parameter) ||
        // Servers name what they cannot do rather than the part that asked for it.
        (parameter === 'image_url' && /\b(images?|vision|multi-?modal)\b/i.test(refusal.text))),
  );
  return [
    ...named.map((parameter) => ({ knowledge: { profile, without: [...without, parameter] }, guessed: false })),
    ...hintsIn(profile, refusal.text).map((hinted) => ({ knowledge: { profile: hinted, without }, guessed: false })),
    { knowledge: { profile: CAREFUL, without }, guessed: true },
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
      without: z.array(z.enum(OPTIONAL_PARAMETERS)),
    }),
  ),
});

export function createEndpointMemory(learnt = new Map<string, EndpointFacts>()): EndpointMemory {
  return {
    get: (baseUrl, model) => learnt.get(nameOf(baseUrl, model)) ?? { profile: shippedProfile(baseUrl), without: [] },
    learn: async (baseUrl, model, knowledge) => void learnt.set(nameOf(baseUrl, model), knowledge),
  };
}

/** A template belongs to the model, a refusal to the server: both name what was learnt. */
function nameOf(baseUrl: string, model: string): string {
  return `${baseUrl} ${model}`;
}

/** Kept in one small file; one that cannot be read is as good as none, and is told to the log. */
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
    for (const [name, knowledge] of Object.entries(parsed?.endpoints ?? {})) learnt.set(name, knowledge);
  } catch (error) {
    logger.warn(`what was learnt of endpoints cannot be read and is learnt again: ${describeError(error)}`);
  }
  const memory = createEndpointMemory(learnt);
  return {
    get: memory.get,
    learn: async (baseUrl, model, knowledge) => {
      await memory.learn(baseUrl, model, knowledge);
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
        logger.warn(`what was learnt of ${baseUrl} cannot be kept: ${describeError(error)}`);
      }
    },
  };
}
