import { done, missed, T, unfinished } from './ending.ts';

export const JAPANESE = [
  ...unfinished(
    [
      'denied',
      `テストが二つ失敗しているので${T}とは書きません。`,
      `まだ${T}ではありません。`,
      `作業はCOMPLETEではない。`,
      `今${T}と書くのは嘘になります。`,
    ],
    [
      'to come',
      `最後に書くのは ${T}`,
      `明日なら${T}と書けます。`,
      `まず文書、その後に${T}`,
      `ビルドが通れば${T}と書きます。`,
    ],
    [
      'on a condition',
      `全部通ったら次のように答えます：${T}`,
      `移行が終わったら最後の行はこうなります：\n\n${T}`,
      `チームによる確認がすべて終わるまでは書くことのできない行\n${T}`,
    ],
    [
      'a question',
      `${T}と書きましょうか？`,
      `これはCOMPLETEですか？`,
      `終わったと言えますか？${T}？`,
    ],
    [
      'quoted',
      `指示には「${T}」とあります。`,
      `『${T}』`,
      `> ${T}\n\n求められているのはこれですが、まだです。`,
      `こう書かれていました：\n> 最後に\n${T}`,
    ],
    [
      'code',
      `その行は\`${T}\`です。`,
      `その行は：\n\n    ${T}`,
      `\`\`\`\n${T}\n\`\`\``,
      `形式：\`\`\`\n${T}\n\`\`\``,
    ],
    ['a field', `状態：まだCOMPLETEではない`, `第一段階 COMPLETE、第二段階 作業中`, `目標：${T}`],
    [
      'no end of a sentence before it',
      `残りはテスト、文書、${T}`,
      `終わりましたか？${T}`,
      `ええと…${T}`,
      `結びの行（${T}）`,
    ],
    [
      'taken back behind it',
      `${T}\n\n待ってください、一つまだ失敗しています。`,
      `${T}\n\n注意：配備はまだです。`,
      `できました。\n\nCOMPLETE\n\nいや、翻訳が足りません。`,
    ],
    ['an open box behind it', `${T}\n\n- [ ] READMEの更新`],
    ['a numbered line', `残り：1. テスト 2. 文書 3. ${T}`],
    ['a list of states', `未着手\n作業中\nCOMPLETE`],
    [
      'half a sentence',
      `現時点では正直に言ってまだ次のように宣言できる段階にはなく\n${T}`,
      `この課題の状態はどう考えてもまだ次のようには言えない\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `すべてのテストが通りました。\n\n${T}`,
      `誤りを直し、文書を更新しました。\n\n**${T}**`,
      `完了です！\n${T}`,
      `## まとめ\n- 修正\n- 確認\n\n${T}`,
      `残りはありません。\n\n${T} 🎉`,
    ],
    [
      'behind a sentence',
      `テストはすべて通りました。${T}`,
      `終わりました！${T}`,
      `失敗はありません。 ${T}`,
      `（確認済みです。）${T}`,
      `全部できました。🎉 ${T}`,
    ],
    [
      'bare',
      `移行は終わりました。\n\nCOMPLETE`,
      `すべて確認しました。\nCOMPLETE。`,
      `# 終わり\nCOMPLETE`,
      `納品しました。✨\n\nCOMPLETE`,
    ],
    ['after a mention', `最後に${T}と書くよう言われました。すべて通っています。\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nまとめ：三つのファイルを変更しました。`],
    ['a bare closing sentence', `テストはすべて通りました。COMPLETE`, `終わりました！COMPLETE`],
    ['in brackets', `すべて通りました。\n\n「${T}」`],
  ),
];
