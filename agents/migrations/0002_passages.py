import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from agents.search import index


def install(apps, schema_editor):
    index.install(schema_editor.connection)


def uninstall(apps, schema_editor):
    index.uninstall(schema_editor.connection)


def key():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='event',
            name='kind',
            field=models.CharField(choices=[('agent_changed', 'Agent Changed'), ('memory_changed', 'Memory Changed'), ('block_edited', 'Block Edited'), ('queue_changed', 'Queue Changed'), ('run_began', 'Run Began'), ('activity', 'Activity'), ('step_began', 'Step Began'), ('text', 'Text'), ('step_changed', 'Step Changed'), ('archival_changed', 'Archival Changed'), ('run_changed', 'Run Changed')], max_length=20),
        ),
        migrations.CreateModel(
            name='Passage',
            fields=[
                ('id', key()),
                ('text', models.TextField()),
                ('tags', models.JSONField(blank=True, default=list)),
                ('editor_kind', models.CharField(max_length=10)),
                ('editor_name', models.CharField(max_length=150)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('recalled_count', models.PositiveIntegerField(default=0)),
                ('recalled_at', models.DateTimeField(blank=True, null=True)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='passages', to='agents.agent')),
                ('step', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='passages', to='agents.step')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'indexes': [
                    models.Index(fields=['agent', '-created_at', '-id'], name='passage_newest'),
                ],
            },
        ),
        migrations.CreateModel(
            name='EmbeddingModel',
            fields=[
                ('id', key()),
                ('name', models.CharField(max_length=200)),
                ('dimensions', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('name', 'dimensions'), name='embedding_model_is_unique')],
            },
        ),
        *(
            migrations.CreateModel(
                name=f'{of.capitalize()}Vector',
                fields=[
                    ('id', key()),
                    ('vector', models.BinaryField(null=True)),
                    ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='agents.agent')),
                    ('model', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='agents.embeddingmodel')),
                    ('of', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='embedded', to=f'agents.{of}')),
                ],
                options={
                    'abstract': False,
                    'indexes': [models.Index(fields=['agent', 'model', 'id'], name=f'{of}vector_of_agent')],
                },
            )
            for of in ('passage', 'message')
        ),
        migrations.RunPython(install, uninstall),
    ]
