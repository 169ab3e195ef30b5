// The web chat as a program plugin: node dist/webChat.js, started by Earshot: Open Web Chat.
import { runPlugin } from '../plugins/client/pluginClient.ts';
import { WEB_CHAT } from '../protocol/webChat.ts';
import { WebChat } from './webChat.ts';

let chat: WebChat | undefined;

await runPlugin({
  describe: { name: WEB_CHAT, version: '1', description: 'Shows conversations in a browser.' },
  run: async (client, init) => {
    chat = new WebChat(client, init);
    await chat.start();
    await client.shutDown;
    await chat.close();
    return 0;
  },
  event: (event) => chat?.event(event),
  error: (error) => chat?.error(error),
});
