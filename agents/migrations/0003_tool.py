import uuid

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_passages'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Tool',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, help_text="The function's. Empty: the last one's.", max_length=64)),
                ('description', models.TextField(blank=True, editable=False)),
                ('source', models.TextField(max_length=100000)),
                ('json_schema', models.JSONField(blank=True, default=dict, editable=False)),
                ('tags', models.JSONField(blank=True, default=list)),
                ('seconds', models.FloatField(blank=True, help_text='How long a call may take.', null=True)),
                ('megabytes', models.PositiveIntegerField(blank=True, help_text='How much memory a call may take.', null=True)),
                ('return_char_limit', models.PositiveIntegerField(default=50000, help_text='Characters of what it returns; the rest is cut off.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(50000)])),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tools', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('owner', 'name'), name='tool_name_is_unique', violation_error_message='You already have a tool of this name.')],
            },
        ),
    ]
