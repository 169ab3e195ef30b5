// The walkthrough for new users: four steps, each with a button that performs it.
import { COMMANDS } from '../ids.ts';

const media = { svg: 'media/walkthrough.svg', altText: 'A chat that is notified of a changed file' };
const run = (title: string, command: string) => `[${title}](command:${command})`;

export const walkthrough = {
  id: 'start',
  title: 'Get Started with Earshot',
  description: 'A coding agent that is notified of what happens while it works.',
  steps: [
    {
      id: 'open',
      title: 'Open the chat',
      description: `The chat is in the secondary side bar, so that the Explorer stays beside it. You can drag it anywhere.\n${run('Open Chat', COMMANDS.openChat)}`,
      media,
      completionEvents: [`onCommand:${COMMANDS.openChat}`, 'onView:earshot.chat'],
    },
    {
      id: 'tour',
      title: 'See a notification arrive',
      description: `The built-in Guide works offline and needs no key. It reads a file; you change it; the Guide is notified and says so.\n${run('Take the Tour', COMMANDS.tour)}`,
      media,
      completionEvents: [`onCommand:${COMMANDS.tour}`],
    },
    {
      id: 'model',
      title: 'Choose a model',
      description: `Any OpenAI-compatible endpoint, a model on this machine, or a model of VS Code.\n${run('Choose Model', COMMANDS.chooseModel)}`,
      media,
      completionEvents: [`onCommand:${COMMANDS.chooseModel}`, 'onSettingChanged:earshot.model'],
    },
    {
      id: 'notifications',
      title: 'Decide what the model is notified of',
      description: `Every notification is listed with its text and its tokens. Dismiss it, mute its kind, or deliver it now.\n${run('Show Notifications', COMMANDS.showNotifications)}`,
      media,
      completionEvents: [`onCommand:${COMMANDS.showNotifications}`],
    },
  ],
};
