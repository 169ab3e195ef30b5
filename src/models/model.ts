// Creates the model behind an endpoint, with the API that the endpoint serves best.
import { type Model } from '../core/ports/ports.ts';
import { type ModelApi } from '../protocol/event.ts';
import { createChatModel } from './chat/chatModel.ts';
import { type EndpointOptions } from './wire/client.ts';

/** `api`: as the settings say; absent: by the endpoint's address. */
export function createModel({ api: _, ...options }: EndpointOptions & { readonly api?: ModelApi | undefined }): Model {
  return createChatModel(options);
}
