// Creates the model behind an endpoint, with the API that the endpoint serves best.
import { type Model } from '../core/ports/ports.ts';
import { type ModelApi } from '../protocol/event.ts';
import { type Effort } from '../protocol/settings.ts';
import { apiOf } from './api.ts';
import { createChatModel } from './chat/chatModel.ts';
import { dialectOf, offeredLevels } from './chat/dialects.ts';
import { createMessagesModel } from './messages/messagesModel.ts';
import { reasons } from './responses/openaiModels.ts';
import { createResponsesModel } from './responses/responsesModel.ts';
import { type Provider } from './providers.ts';
import { type EndpointOptions } from './wire/endpoint.ts';

/** `api`: as the settings say; absent: by the endpoint's address. */
export function createModel({ api, ...options }: EndpointOptions & { readonly api?: ModelApi | undefined }): Model {
  switch (api ?? apiOf(options.baseUrl)) {
    case 'chat':
      return createChatModel(options);
    case 'responses':
      return createResponsesModel(options);
    case 'messages':
      return createMessagesModel(options);
  }
}

/** Of the levels of reasoning that a model has, those that can be asked for through its provider. */
export function levelsFor(
  { api, baseUrl }: Pick<Provider, 'api' | 'baseUrl'>,
  model: string,
  levels: readonly Effort[],
): readonly Effort[] {
  if (api === 'chat') return offeredLevels(dialectOf(baseUrl, model), levels);
  return api === 'responses' && !reasons(model) ? [] : levels;
}
