// The model behind an OpenAI-compatible endpoint. The SDK is loaded with the first request, not at activation.
import { type Failure } from '../base/errors.ts';
import { type Model, type ModelPart, type ModelRequest } from '../core/ports.ts';

export interface OpenAiOptions {
  readonly baseUrl: string;
  readonly model: string;
  /** Undefined: an endpoint that wants none. */
  apiKey(): Promise<string | undefined>;
}

const CONTEXT_WINDOW = 128_000;

export function createOpenAiModel(options: OpenAiOptions): Model {
  return {
    id: options.model,
    label: options.model,
    detail: new URL(options.baseUrl).host,
    contextWindow: CONTEXT_WINDOW,
    stream: (request, signal) => stream(options, request, signal),
  };
}

async function* stream(options: OpenAiOptions, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  try {
    const { requestChunks } = await import('./openaiClient.ts');
    yield* requestChunks(options, request, signal);
  } catch (error) {
    if (signal.aborted) return;
    yield { type: 'failed', failure: explain(error, options) };
  }
}

/** By status, never by an error's text. */
function explain(error: unknown, { baseUrl, model }: OpenAiOptions): Failure {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  const said = error instanceof Error ? error.message : String(error);
  switch (status) {
    case 401:
    case 403:
      return {
        code: 'key_refused',
        message: `${baseUrl} refused the API key (${said}).`,
        nextStep: 'Set EARSHOT_API_KEY or OPENAI_API_KEY in the environment and reload the window.',
      };
    case 404:
      return {
        code: 'not_found',
        message: `${baseUrl} does not know the model “${model}” (${said}).`,
        nextStep: 'Check earshot.model and earshot.baseUrl in the settings.',
      };
    case 429:
      return {
        code: 'rate_limited',
        message: `${baseUrl} asks to slow down (${said}).`,
        nextStep: 'Wait a little, then send again.',
      };
    case undefined:
      return {
        code: 'unreachable',
        message: `${baseUrl} cannot be reached (${causeOf(error)}).`,
        nextStep: 'Check that it is running and that earshot.baseUrl is right, then send again.',
      };
    default:
      return {
        code: 'refused',
        message: `${baseUrl} refused the request (${said}).`,
        nextStep: 'Send again, or choose another model.',
      };
  }
}

/** The SDK wraps the reason: the innermost one is what helps. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : causeOf(error.cause);
}
