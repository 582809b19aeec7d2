import { done, missed, T, unfinished } from './ending.ts';

export const CHINESE = [
  ...unfinished(
    [
      'denied',
      `还有两个测试失败，所以不输出${T}。`,
      `暂时不写 ${T}`,
      `工作尚未COMPLETE。`,
      `现在写${T}是不诚实的。`,
    ],
    [
      'to come',
      `最后我会写 ${T}`,
      `明天才能写${T}。`,
      `先写文档，然后是${T}`,
      `构建通过后再输出 ${T}。`,
    ],
    [
      'on a condition',
      `如果全部通过，我会回答：${T}`,
      `迁移完成之后，最后一行将是：\n\n${T}`,
      `只有在团队审查并且确认没有任何问题之后我才会写\n${T}`,
    ],
    ['a question', `要输出${T}吗？`, `这算COMPLETE吗？`, `可以说完成了吗？${T}？`],
    [
      'quoted',
      `任务要求写“${T}”。`,
      `「${T}」`,
      `> ${T}\n\n这是要求的内容，我还没做到。`,
      `您写道：\n> 以此结尾\n${T}`,
    ],
    [
      'code',
      `这一行是\`${T}\`。`,
      `这一行是：\n\n    ${T}`,
      `\`\`\`\n${T}\n\`\`\``,
      `格式：\`\`\`\n${T}\n\`\`\``,
    ],
    ['a field', `状态：尚未 COMPLETE`, `阶段一 COMPLETE，阶段二进行中`, `目标：${T}`],
    [
      'no end of a sentence before it',
      `还差测试、文档、${T}`,
      `完成了吗？${T}`,
      `等等……${T}`,
      `结束语（${T}）`,
    ],
    [
      'taken back behind it',
      `${T}\n\n等一下，还有一个测试失败。`,
      `${T}\n\n注意：还没有部署。`,
      `好了。\n\nCOMPLETE\n\n不对，翻译还缺。`,
    ],
    ['an open box behind it', `${T}\n\n- [ ] 更新说明`],
    ['a numbered line', `剩余：1. 测试 2. 文档 3. ${T}`],
    ['a list of states', `待办\n进行中\nCOMPLETE`],
    [
      'half a sentence',
      `以目前的情况来看我还不能够诚实地在这里写下这样一句话\n${T}`,
      `这个任务目前的状态距离真正意义上的完成还很远不能称为\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `所有测试都通过了。\n\n${T}`,
      `已修复错误并更新文档。\n\n**${T}**`,
      `完成！\n${T}`,
      `## 总结\n- 已修复\n- 已测试\n\n${T}`,
      `没有遗留问题。\n\n✅ ${T}`,
    ],
    [
      'behind a sentence',
      `测试全部通过。${T}`,
      `全部完成！${T}`,
      `没有失败的测试。 ${T}`,
      `（已验证。）${T}`,
      `任务结束了。🎉${T}`,
    ],
    [
      'bare',
      `迁移完成。\n\nCOMPLETE`,
      `全部检查完毕。\nCOMPLETE。`,
      `# 结束\nCOMPLETE`,
      `已交付。🎉\n\nCOMPLETE`,
    ],
    ['after a mention', `要求最后写${T}。现在全部通过。\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\n总结：修改了三个文件。`],
    ['a bare closing sentence', `测试全部通过。COMPLETE`, `做完了！COMPLETE！`],
    ['in brackets', `全部通过。\n\n【${T}】`],
  ),
];
