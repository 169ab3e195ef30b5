// Creates the model behind an endpoint, with the API that the endpoint serves best.
import { type Model } from '../core/ports/ports.ts';
import { type ModelApi } from '../protocol/event.ts';
import { apiOf } from './api.ts';
import { createChatModel } from './chat/chatModel.ts';
import { createMessagesModel } from './messages/messagesModel.ts';
import { createResponsesModel } from './responses/responsesModel.ts';
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
