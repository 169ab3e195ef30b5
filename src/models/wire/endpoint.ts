// What is configured for the endpoint of a model.
import { type ModelOptions } from '../../protocol/settings.ts';
import { type EndpointMemory } from '../endpointMemory.ts';

export interface EndpointOptions {
  readonly baseUrl: string;
  readonly model: string;
  readonly options?: ModelOptions;
  /** What is known about endpoints. By default it is kept only as long as the model object exists. */
  readonly memory?: EndpointMemory | Promise<EndpointMemory>;
  /** Further headers of each request. They replace no header that Earshot sends itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How many tokens the model can read, as far as it is known when it answers. */
  contextWindow?(): number | undefined;
  /** Reports what the user does not need to see. */
  log?(message: string): void;
  /** Undefined for an endpoint that needs none. */
  apiKey(): Promise<string | undefined>;
}
