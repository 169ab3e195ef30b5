// Requests about the window: its models and modes, completions, and images for messages.
import { type GivenAttachment } from '../../core/agent/userText.ts';
import { effortFor } from '../../core/conversation/choices.ts';
import { type ChosenModel } from '../../protocol/page/windowView.ts';
import { type RequestOf } from '../../protocol/plugin.ts';
import { type PluginPorts } from '../pluginPorts.ts';
import { type Answer, DONE, refuse, reply } from './answer.ts';

/** The types that endpoints accept; `core/agent/userText.ts` checks the same ones. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const LARGEST_IMAGE = 10_000_000;

export async function listModels(
  { controls }: PluginPorts,
  { all, conversation }: RequestOf<'list_models'>,
): Promise<Answer> {
  const data = all === true ? await controls.models(conversation) : [];
  const { model, choice, settings } = controls.chosen(conversation);
  const { label, detail, contextWindow, efforts } = model;
  const current: ChosenModel = {
    label,
    detail,
    context_window: contextWindow,
    ...(efforts !== undefined && { efforts: [...efforts], effort: effortFor({ efforts }, choice) ?? 'auto' }),
    reference: settings.model,
    mode: settings.mode,
    approvals: settings['approvals.mode'],
  };
  return reply({ type: 'models', current, data: [...data] });
}

export async function choose(
  { controls }: PluginPorts,
  { model: id, effort, mode, approvals, conversation }: RequestOf<'choose'>,
): Promise<Answer> {
  const model = id === undefined ? undefined : await controls.reference(id);
  if (id !== undefined && model === undefined) return refuse('model: there is no such model. List the models again.');
  const chosen = await controls.choose({ model, effort, mode, approvals }, conversation);
  return chosen.ok ? DONE : refuse(chosen.failure.message);
}

export async function complete({ controls }: PluginPorts, { trigger, query }: RequestOf<'complete'>): Promise<Answer> {
  return reply({ type: 'completions', data: [...(await controls.complete(trigger, query))] });
}

/** The images that one plugin has stored. It cannot attach other snapshots by their hash. */
export class StoredImages {
  readonly #hashes = new Set<string>();

  async store({ snapshots }: PluginPorts, { media_type: type, data }: RequestOf<'store_image'>): Promise<Answer> {
    if (!IMAGE_TYPES.has(type)) return refuse('media_type: models take PNG, JPEG, GIF and WebP.');
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length === 0) return refuse('data: there is nothing in it.');
    if (bytes.length > LARGEST_IMAGE) return refuse('data: the image is larger than 10 MB.');
    const hash = await snapshots.put(bytes);
    this.#hashes.add(hash);
    return reply({ type: 'image', hash });
  }

  /** Why these attachments are refused. */
  whyNot(attachments: readonly GivenAttachment[] = []): string | undefined {
    const unknown = attachments.findIndex(
      (one) => one.type === 'image' && !('hash' in one && this.#hashes.has(one.hash)),
    );
    return unknown === -1 ? undefined : `attachments.${unknown}: this image was not stored with store_image.`;
  }
}
