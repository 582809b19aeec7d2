import { done, missed, T, unfinished } from './ending.ts';

export const TURKISH = [
  ...unfinished(
    [
      'denied',
      `${T} yazmıyorum, çünkü iki test başarısız.`,
      `Şimdilik ${T} yok.`,
      `İş henüz COMPLETE değil.`,
      `Şu anda ${T} demek doğru olmaz.`,
    ],
    [
      'to come',
      `Sonunda yazacağım: ${T}`,
      `Yarın ${T} yazabilirim.`,
      `Önce belgeler, sonra ${T}`,
      `Derleme geçince ${T} diyeceğim.`,
    ],
    [
      'on a condition',
      `Her şey geçerse yanıtım: ${T}`,
      `Geçiş bitince son satır şu olacak:\n\n${T}`,
      `Ancak ekibin incelemesinden sonra yazabileceğim satır\n${T}`,
    ],
    ['a question', `${T} yazayım mı?`, `Bu COMPLETE mi?`, `Bitti diyebilir miyim? COMPLETE?`],
    [
      'quoted',
      `Görevde "${T}" deniyor.`,
      `“${T}”`,
      `> ${T}\n\nİstenen bu; henüz oraya gelmedim.`,
      `Şöyle yazmıştınız:\n> sonunda\n${T}`,
    ],
    [
      'code',
      `Satır şu: \`${T}\``,
      `Satır şu:\n\n    ${T}`,
      `\`\`\`\n${T}\n\`\`\``,
      `Biçim: \`\`\`\n${T}\n\`\`\``,
    ],
    ['a field', `Durum: henüz COMPLETE değil`, `1. aşama COMPLETE, 2. aşama açık`, `Hedef: ${T}`],
    [
      'an abbreviation before it',
      `Bir kapanış satırı, örn. ${T}`,
      `Testler, belgeler vb. ${T}`,
      `Kurala bkz. ${T}`,
      `Testler, belgeler vs. ${T}`,
    ],
    [
      'taken back behind it',
      `${T}\n\nDurun, bir test hâlâ başarısız.`,
      `${T}\n\nNot: dağıtım yapılmadı.`,
      `Hazır.\n\nCOMPLETE\n\nHayır, çeviriler eksik.`,
    ],
    ['an open box behind it', `${T}\n\n- [ ] README güncellenecek`],
    ['a numbered line', `Kalan: 1. testler 2. belgeler 3. ${T}`],
    ['a list of states', `AÇIK\nSÜRÜYOR\nCOMPLETE`],
    [
      'half a sentence',
      `Henüz gönül rahatlığıyla söyleyemeyeceğim tek satır olan\n${T}`,
      `Bu görevin durumu için kesinlikle söyleyemem\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `Bütün testler geçiyor.\n\n${T}`,
      `Hatayı düzelttim, belgeyi yeniledim.\n\n*${T}*`,
      `Bitti!\n${T}`,
      `## Özet\n- düzeltildi\n- sınandı\n\n${T}`,
      `Açık iş kalmadı.\n\n🎉 ${T} 🎉`,
    ],
    [
      'behind a sentence',
      `Her şey tamam. ${T}`,
      `Çalışıyor! ${T}`,
      `Kalan var mı? Yok. ${T}`,
      `Testler 12 sn. sürdü, hepsi geçti. ${T}`,
      `Sorun çözüldü. 🚀 ${T}`,
    ],
    [
      'bare',
      `Geçiş bitti.\n\nCOMPLETE`,
      `Her şey denetlendi.\nCOMPLETE.`,
      `# Son\nCOMPLETE`,
      `Teslim edildi. ✨\n\nCOMPLETE`,
    ],
    ['after a mention', `Sonunda ${T} istenmişti. Hepsi geçiyor.\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nÖzet: üç dosya değişti.`],
    ['a bare closing sentence', `Bütün testler geçiyor. COMPLETE`, `Bitti! COMPLETE`],
    ['behind a number', `Yapılanlar:\n1. testler\n2. ${T}`],
  ),
];
